"""Many neurons in few dimensions: p grows at fixed d, and the steps are small."""
