// Package server answers questions about stock.
package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

const maxItems = 64

var ErrClosed = errors.New("server: closed")

// Handler is anything that can answer.
type Handler interface {
	Handle(ctx context.Context, name string) (int, error)
	Close() error
}

type (
	// ID names an item.
	ID string

	Item struct {
		ID    ID
		Count int `json:"count"`
	}

	lookup map[ID]*Item
)

type HandlerFunc func(ctx context.Context, name string) (int, error)

type Alias = Item

func (f HandlerFunc) Handle(ctx context.Context, name string) (int, error) {
	return f(ctx, name)
}

type Server struct {
	mu    sync.Mutex
	items lookup
	done  chan struct{}
}

func New(items ...Item) *Server {
	s := &Server{items: make(lookup, len(items)), done: make(chan struct{})}
	for i := range items {
		s.items[items[i].ID] = &items[i]
	}
	return s
}

// Start serves until the context ends.
func (s *Server) Start(
	ctx context.Context, // ends the server
	address string,
) error {
	type answer struct {
		count int
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		err := http.ListenAndServe(address, s)
		answers <- answer{err: err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case got := <-answers:
		return got.err
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if item, ok := s.items[ID(r.URL.Path)]; ok {
		_, _ = w.Write([]byte(item.String()))
		return
	}
	http.NotFound(w, r)
}

func (Item) Kind() string { return "item" }

func (item Item) String() string {
	return string(item.ID)
}

type Ring[T any] struct {
	values []T
	next   int
}

func (r *Ring[T]) Push(value T) {
	if len(r.values) < maxItems {
		r.values = append(r.values, value)
		return
	}
	r.values[r.next] = value
	r.next = (r.next + 1) % maxItems
}

func (r Ring[_]) Len() int { return len(r.values) }

func Map[T, U any](values []T, change func(T) U) []U {
	out := make([]U, 0, len(values))
	for _, value := range values {
		out = append(out, change(value))
	}
	return out
}

func init() { register("a") }
func init() { register("b") }

func register(name string)
