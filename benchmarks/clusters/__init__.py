"""What happens on a cluster: `make clusters`."""
