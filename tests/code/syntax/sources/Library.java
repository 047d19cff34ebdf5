package org.example.library;

import java.util.*;
import java.util.function.Function;

/** Lends books. */
@Service
@SuppressWarnings({"unchecked", "rawtypes"})
public class Library<T extends Comparable<T>> extends Base implements Lender, AutoCloseable {
    private static final int LIMIT = 5;
    private final Map<String, Book> books = new HashMap<>();
    private final Function<Book, String> title = book -> book.title();

    public Library() {
        this(LIMIT);
    }

    protected Library(int limit) {
        super(limit);
    }

    @Override
    public Loan lend(@NonNull String isbn, Member member) throws NotFound {
        Book book = books.get(isbn);
        if (book == null) {
            throw new NotFound(isbn);
        }
        return new Loan(book, member);
    }

    public Loan lend(String isbn) throws NotFound {
        return lend(isbn, Member.GUEST);
    }

    static <K, V> Map<V, K> inverted(Map<K, V> map) {
        class Pair {
            K key;

            V swap(V value) {
                return value;
            }
        }
        Map<V, K> out = new TreeMap<>(new Comparator<V>() {
            @Override
            public int compare(V left, V right) {
                return left.hashCode() - right.hashCode();
            }
        });
        return out;
    }

    @Override public void close() { books.clear(); }

    abstract static class Shelf {
        abstract int length();

        native void shake();

        private static class Label {
            String text;
        }
    }
}

interface Lender {
    int DAYS = 14;

    Loan lend(String isbn, Member member) throws NotFound;

    default boolean lends() {
        return true;
    }

    interface Strict extends Lender {
    }
}

enum Member {
    GUEST {
        @Override
        int limit() {
            return 1;
        }
    },
    STUDENT(3),
    STAFF(10);

    private final int limit;

    Member() {
        this(0);
    }

    Member(int limit) {
        this.limit = limit;
    }

    int limit() {
        return limit;
    }
}

record Loan(Book book, Member member) implements Comparable<Loan> {
    Loan {
        Objects.requireNonNull(book);
    }

    static Loan none() {
        return null;
    }

    @Override
    public int compareTo(Loan other) {
        return 0;
    }
}

@interface Service {
    String value() default "";
}
