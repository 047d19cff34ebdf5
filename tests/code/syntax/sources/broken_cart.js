class Cart {
  add(item) {
    this.items.push(item);
  }

  total() {
<<<<<<< HEAD
    return this.items.length;
=======
    return this.items.reduce((sum, item) => sum + item.price, 0);
>>>>>>> feature
  }

  clear() {
    this.items = [];
  }
}

const format = (amount) => {
  return `${amount} EUR`;
};

function half(typed,

function whole(cart) {
  return cart.total();
}

function unclosed(cart) {
  if (cart.items) {
    return 1;
