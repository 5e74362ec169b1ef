// Floating point: planets, and a Mandelbrot set.
function mandelbrot(size) {
  let inside = 0;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const cr = 2 * x / size - 1.5;
      const ci = 2 * y / size - 1;
      let zr = 0;
      let zi = 0;
      let n = 0;
      while (n < 50 && zr * zr + zi * zi < 4) {
        const t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        n++;
      }
      if (n === 50) inside++;
    }
  }
  return inside;
}

function planets(steps) {
  const bodies = [];
  for (let i = 0; i < 5; i++) {
    bodies.push({ x: Math.cos(i) * (i + 1), y: Math.sin(i) * (i + 1), z: i / 10,
                  vx: -Math.sin(i) / 2, vy: Math.cos(i) / 2, vz: 0, mass: 1 / (i + 1) });
  }
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < 5; i++) {
      const a = bodies[i];
      for (let j = i + 1; j < 5; j++) {
        const b = bodies[j];
        const dx = a.x - b.x;
        const dy = a.y - b.y;
        const dz = a.z - b.z;
        const d2 = dx * dx + dy * dy + dz * dz + 0.01;
        const force = 0.001 / (d2 * Math.sqrt(d2));
        a.vx -= dx * b.mass * force;
        a.vy -= dy * b.mass * force;
        a.vz -= dz * b.mass * force;
        b.vx += dx * a.mass * force;
        b.vy += dy * a.mass * force;
        b.vz += dz * a.mass * force;
      }
    }
    for (const body of bodies) {
      body.x += 0.001 * body.vx;
      body.y += 0.001 * body.vy;
      body.z += 0.001 * body.vz;
    }
  }
  return Math.round(bodies[0].x * 1e6);
}

function run() {
  return mandelbrot(120) + planets(3000);
}
