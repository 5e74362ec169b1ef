// Classes: construction, methods, inheritance with super, accessors, private and static members.
class Shape {
  static made = 0;
  constructor(name) {
    this.name = name;
    Shape.made++;
  }
  area() { return 0; }
  describe() { return this.name.length + this.area(); }
}

class Square extends Shape {
  #side;
  constructor(side) {
    super("square");
    this.#side = side;
  }
  get side() { return this.#side; }
  set side(value) { this.#side = value; }
  area() { return this.#side * this.#side; }
}

class Box extends Square {
  height = 2;
  area() { return super.area() * this.height; }
}

class Point {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
  plus(other) { return new Point(this.x + other.x, this.y + other.y); }
  dot(other) { return this.x * other.x + this.y * other.y; }
}

function run() {
  let sum = 0;
  const shapes = [new Square(3), new Box(2), new Shape("plain"), new Square(5)];
  for (let i = 0; i < 60000; i++) sum = (sum + shapes[i & 3].describe()) % 1000003;
  for (let i = 0; i < 40000; i++) {
    const square = shapes[0];
    square.side = i % 10;
    sum += square.side;
  }
  let at = new Point(0, 0);
  const step = new Point(1, 2);
  for (let i = 0; i < 40000; i++) {
    at = at.plus(step);
    sum = (sum + at.dot(step)) % 1000003;
  }
  for (let i = 0; i < 8000; i++) sum += new Box(i).height;
  return sum + Shape.made % 2 * 0;
}
