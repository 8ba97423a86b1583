"""What every package of the core uses: JSON values, ids, origins, and ways to make frozen values."""
