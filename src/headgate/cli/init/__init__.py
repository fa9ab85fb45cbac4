"""`headgate init`: finds recurring data and writes a first headgate.yml."""
