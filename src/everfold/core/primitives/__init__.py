"""What every room is made of: JSON values, ids, origins, and ways to make frozen values."""
