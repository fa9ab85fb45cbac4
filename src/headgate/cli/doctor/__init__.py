"""`headgate doctor`: is everything there that Headgate needs."""
