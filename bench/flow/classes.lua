local function class(base)
  local c = setmetatable({}, base and { __index = base })
  c.__index = c
  return c
end

local Shape = class()
Shape.made = 0
function Shape.init(self, name)
  self.name = name
  Shape.made = Shape.made + 1
  return self
end
function Shape.new(name) return Shape.init(setmetatable({}, Shape), name) end
function Shape:area() return 0 end
function Shape:describe() return #self.name + self:area() end

local Square = class(Shape)
function Square.init(self, side)
  Shape.init(self, "square")
  self.hidden = side
  return self
end
function Square.new(side) return Square.init(setmetatable({}, Square), side) end
function Square:getSide() return self.hidden end
function Square:setSide(value) self.hidden = value end
function Square:area() return self.hidden * self.hidden end

local Box = class(Square)
function Box.new(side)
  local self = Square.init(setmetatable({}, Box), side)
  self.height = 2
  return self
end
function Box:area() return Square.area(self) * self.height end

local Point = class()
function Point.new(x, y) return setmetatable({ x = x, y = y }, Point) end
function Point:plus(other) return Point.new(self.x + other.x, self.y + other.y) end
function Point:dot(other) return self.x * other.x + self.y * other.y end

function run()
  local sum = 0
  local shapes = { [0] = Square.new(3), Box.new(2), Shape.new("plain"), Square.new(5) }
  for i = 0, 59999 do sum = (sum + shapes[i & 3]:describe()) % 1000003 end
  for i = 0, 39999 do
    local square = shapes[0]
    square:setSide(i % 10)
    sum = sum + square:getSide()
  end
  local at, step = Point.new(0, 0), Point.new(1, 2)
  for _ = 0, 39999 do
    at = at:plus(step)
    sum = (sum + at:dot(step)) % 1000003
  end
  for i = 0, 7999 do sum = sum + Box.new(i).height end
  return sum
end
