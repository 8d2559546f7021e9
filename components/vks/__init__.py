"""What a VKS cluster brings or offers by itself: standard packages, and who owns them."""
