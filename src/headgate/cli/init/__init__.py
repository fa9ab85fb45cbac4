"""`headgate init`: find recurring data and write a first headgate.yml."""
