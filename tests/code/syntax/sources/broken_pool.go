package pool

type Pool struct {
	free []int
}

func (p *Pool) Take() int {
<<<<<<< HEAD
	return p.free[0]
=======
	return p.free[len(p.free)-1]
>>>>>>> feature
}

func (p *Pool) Give(item int) {
	p.free = append(p.free, item)
}

func half(a int, b

func New() *Pool {
	return &Pool{}
}

func unclosed() int {
	if true {
		return 1
