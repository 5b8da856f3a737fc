"""gradcheck and gradgradcheck."""
