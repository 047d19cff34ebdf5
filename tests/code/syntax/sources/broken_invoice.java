package org.example;

public class Invoice {
    private int total;

    public Invoice(int total) {
        this.total = total;
    }

    public int total() {
        return total
    }

<<<<<<< HEAD
    public int tax() {
        return total / 5;
    }
=======
    public int vat() {
        return total * 19 / 100;
    }
>>>>>>> feature

    public void half(int

    public void print() {
        System.out.println(total);
    }
}

interface Payer {
    void pay(Invoice invoice);
}
