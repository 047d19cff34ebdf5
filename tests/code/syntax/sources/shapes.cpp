// Shapes, and where they are kept.
#include <memory>
#include <string>
#include <vector>

#define SQUARE(x) ((x) * (x))

namespace geometry {

enum class Colour : int { Red, Green };

struct Point {
    double x = 0, y = 0;
    Point operator+(const Point &other) const { return {x + other.x, y + other.y}; }
};

class Shape {
public:
    explicit Shape(std::string name) : name_(std::move(name)) {}
    virtual ~Shape() = default;
    Shape(const Shape &) = delete;

    virtual double area() const = 0;
    const std::string &name() const noexcept { return name_; }
    operator bool() const { return !name_.empty(); }

    friend bool operator==(const Shape &a, const Shape &b) { return a.name_ == b.name_; }

    class Visitor {
    public:
        virtual void visit(Shape &shape);
    };

private:
    std::string name_;
};

class Circle final : public Shape {
public:
    Circle(double radius);
    ~Circle() override;
    double area() const override;
    static std::unique_ptr<Circle> unit();

private:
    double radius_;
};

Circle::Circle(double radius)
    : Shape("circle"), radius_(radius)
{
}

Circle::~Circle() {}

double Circle::area() const
{
    return 3.14159 * SQUARE(radius_);
}

std::unique_ptr<Circle> Circle::unit() { return std::make_unique<Circle>(1.0); }

void Shape::Visitor::visit(Shape &shape)
{
    auto twice = [&shape](int n) { return n * 2; };
    (void)twice(static_cast<int>(shape.area()));
}

template <typename T, int Size = 8>
class Pool {
public:
    T *take();
    void give(T *item) { free_.push_back(item); }

private:
    std::vector<T *> free_;
};

template <typename T, int Size>
T *Pool<T, Size>::take()
{
    return free_.empty() ? new T() : free_.back();
}

template <>
struct Pool<bool, 1> {
    bool value;
};

template <typename T>
[[nodiscard]] constexpr const T &larger(const T &a, const T &b)
{
    return a < b ? b : a;
}

namespace detail {
namespace {
int hidden() { return 1; }
}  // namespace
}  // namespace detail

std::ostream &operator<<(std::ostream &out, const Point &point) { return out << point.x; }

double scale(double by) { return by; }
double scale(double by, int times) { return by * times; }

}  // namespace geometry

namespace geometry::io {
auto read(const std::string &text) -> geometry::Point { return {}; }
}

class GEOMETRY_API Exported : public geometry::Shape {
public:
    double area() const override { return 1.0; }
};

extern "C" int shapes_version(void) { return 3; }

int main() {
    struct Local {
        int run() { return 0; }
    } local;
    return local.run();
}
