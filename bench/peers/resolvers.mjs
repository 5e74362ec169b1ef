// Promise.withResolvers for Node 20, which lacks it; Restate's library calls it. Imported first.
Promise.withResolvers ??= function withResolvers() {
  const made = {}
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }))
  return made
}
