local function mandelbrot(size)
  local inside = 0
  for y = 0, size - 1 do
    for x = 0, size - 1 do
      local cr, ci = 2 * x / size - 1.5, 2 * y / size - 1
      local zr, zi, n = 0.0, 0.0, 0
      while n < 50 and zr * zr + zi * zi < 4 do
        local t = zr * zr - zi * zi + cr
        zi = 2 * zr * zi + ci
        zr = t
        n = n + 1
      end
      if n == 50 then inside = inside + 1 end
    end
  end
  return inside
end

local function planets(steps)
  local bodies = {}
  for i = 0, 4 do
    bodies[i] = { x = math.cos(i) * (i + 1), y = math.sin(i) * (i + 1), z = i / 10,
                  vx = -math.sin(i) / 2, vy = math.cos(i) / 2, vz = 0, mass = 1 / (i + 1) }
  end
  for _ = 1, steps do
    for i = 0, 4 do
      local a = bodies[i]
      for j = i + 1, 4 do
        local b = bodies[j]
        local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
        local d2 = dx * dx + dy * dy + dz * dz + 0.01
        local force = 0.001 / (d2 * math.sqrt(d2))
        a.vx = a.vx - dx * b.mass * force
        a.vy = a.vy - dy * b.mass * force
        a.vz = a.vz - dz * b.mass * force
        b.vx = b.vx + dx * a.mass * force
        b.vy = b.vy + dy * a.mass * force
        b.vz = b.vz + dz * a.mass * force
      end
    end
    for i = 0, 4 do
      local body = bodies[i]
      body.x = body.x + 0.001 * body.vx
      body.y = body.y + 0.001 * body.vy
      body.z = body.z + 0.001 * body.vz
    end
  end
  return math.floor(bodies[0].x * 1e6 + 0.5)
end

function run()
  return mandelbrot(120) + planets(3000)
end
