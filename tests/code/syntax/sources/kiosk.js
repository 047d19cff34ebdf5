#!/usr/bin/env node
// A ticket kiosk: prices, a queue of orders and a printer.
"use strict";

const fs = require("fs");
const { EventEmitter } = require("events");

const VAT = 0.19, CENTS = 100;

function gross(net, rate = VAT) {
  return Math.round(net * (1 + rate) * CENTS) / CENTS;
}

async function readPrices(path) {
  const text = await fs.promises.readFile(path, "utf8");
  function parseLine(line) {
    const [name, price] = line.split(";");
    return { name, price: Number(price) };
  }
  return text.trim().split("\n").map(parseLine);
}

function* numbers(from) {
  for (;;) yield from++;
}

/** Rounds to what coins can pay. */
const toCoins = (amount) => Math.ceil(amount * 20) / 20;

let discount = function (price) {
  return price * 0.9;
}, surcharge = (price) => price + 1;

class Order extends EventEmitter {
  #lines = [];
  static count = 0;
  onPaid = () => {
    this.emit("paid", this.total);
  };

  constructor(id) {
    super();
    this.id = id;
    this.close = () => this.removeAllListeners();
  }

  get total() {
    return this.#lines.reduce((sum, line) => sum + line.price, 0);
  }

  set total(_value) {
    throw new Error("read only");
  }

  static async create(ids) {
    const { value } = ids.next();
    return new Order(value);
  }

  #check(line) {
    return line.price >= 0;
  }

  *[Symbol.iterator]() {
    yield* this.#lines;
  }

  "add-line"(line) {
    if (this.#check(line)) this.#lines.push(line);
  }
}

const printer = {
  width: 40,
  print(order) {
    const cut = (text) => text.slice(0, this.width);
    return [...order].map((line) => cut(line.name)).join("\n");
  },
  reset: function () {
    this.width = 40;
  },
  "self-test": async () => true,
  colours: {
    red() {
      return 1;
    },
  },
};

const Queue = class WaitingLine {
  push(order) {
    (this.orders ||= []).push(order);
  }
};

Order.prototype.describe = function () {
  return `order ${this.id}`;
};

Order.compare = (a, b) => a.id - b.id;

setTimeout(function tick() {
  printer.reset();
}, 1000);

exports.readPrices = readPrices;
exports.vat = function vatOf(price) {
  return price * VAT;
};
module.exports = {
  gross,
  open(path) {
    return readPrices(path);
  },
};
