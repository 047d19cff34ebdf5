namespace algebra {

class Matrix {
public:
    int rows() const { return rows_; }
    int columns() const { return columns_ }

private:
    int rows_, columns_;
};

int trace(const Matrix &matrix)
{
<<<<<<< HEAD
    return matrix.rows();
=======
    return matrix.columns();
>>>>>>> feature
}

void half(int a,

double norm(const Matrix &matrix)
{
    return matrix.rows() * 1.0;
}

int unclosed() {
    for (;;) {
