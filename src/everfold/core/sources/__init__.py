"""What context sources are asked, and what they may say."""
