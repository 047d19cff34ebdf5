namespace algebra {

class Vector {
public:
    int size() const { return size_; }
    int last() const { return size_ - 1 }

private:
    int size_;
};

int sum(const Vector &vector)
{
<<<<<<< HEAD
    return vector.size();
=======
    return vector.last();
>>>>>>> feature
}

double norm(const Vector &vector)
{
    return vector.size() * 1.0;
}

}  // namespace algebra
