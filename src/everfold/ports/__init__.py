"""What the services need of the world, in the words of the domain."""
