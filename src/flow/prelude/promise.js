// Promise where the constructor is not %Promise% itself, the combinators, and async iteration of
// sync iterators. Nothing here is async: a parked run never holds a frame of the prelude.

function promiseExecute(promise, executor, resolve, reject) {
  try {
    executor(resolve, reject);
  } catch (error) {
    reject(error);
  }
  return promise;
}

function newPromiseCapability(constructor) {
  if (!%isConstructor(constructor)) %typeError(%describe(constructor) + " is not a constructor");
  const capability = { promise: undefined, resolve: undefined, reject: undefined };
  capability.promise = %construct(constructor, constructor, (resolve, reject) => {
    if (capability.resolve !== undefined || capability.reject !== undefined) {
      %typeError("Promise executor has already been invoked with non-undefined arguments");
    }
    capability.resolve = resolve;
    capability.reject = reject;
  });
  if (!%isCallable(capability.resolve) || !%isCallable(capability.reject)) {
    %typeError("Promise resolve or reject function is not callable");
  }
  return capability;
}

function speciesConstructor(object, fallback) {
  const constructor = object.constructor;
  if (constructor === undefined) return fallback;
  if (!%isObject(constructor)) %typeError("The .constructor property is not an object");
  const species = constructor[%symbolSpecies()];
  if (species === undefined || species === null) return fallback;
  if (!%isConstructor(species)) %typeError("object.constructor[Symbol.species] is not a constructor");
  return species;
}

function promiseThen(promise, onFulfilled, onRejected) {
  const constructor = speciesConstructor(promise, %promiseConstructor());
  if (constructor === %promiseConstructor()) {
    const derived = %promiseNew();
    %performThen(promise, onFulfilled, onRejected, derived, undefined, undefined);
    return derived;
  }
  const capability = newPromiseCapability(constructor);
  %performThen(promise, onFulfilled, onRejected, capability.promise, capability.resolve, capability.reject);
  return capability.promise;
}

function promiseResolveWith(constructor, value) {
  if (%isPromise(value) && value.constructor === constructor) return value;
  if (constructor === %promiseConstructor()) return %promiseOf(value);
  const capability = newPromiseCapability(constructor);
  const resolve = capability.resolve;
  resolve(value);
  return capability.promise;
}

function promiseSettled(constructor, value, isReject) {
  if (!isReject) return promiseResolveWith(constructor, value);
  const capability = newPromiseCapability(constructor);
  const reject = capability.reject;
  reject(value);
  return capability.promise;
}

function promiseFinally(promise, onFinally) {
  if (!%isObject(promise)) %typeError("Promise.prototype.finally called on a non-object");
  const constructor = speciesConstructor(promise, %promiseConstructor());
  if (!%isCallable(onFinally)) return promise.then(onFinally, onFinally);
  return promise.then(
    value => promiseResolveWith(constructor, onFinally()).then(() => value),
    reason => promiseResolveWith(constructor, onFinally()).then(() => { throw reason; }));
}

function Promise_prototype_catch(onRejected) { return this.then(undefined, onRejected); }

function Promise_withResolvers() {
  const { promise, resolve, reject } = newPromiseCapability(this);
  return { promise, resolve, reject };
}

// kind: FlowCombinatorKind
function promiseCombine(constructor, iterable, kind) {
  const isNative = constructor === %promiseConstructor();
  const capability = isNative
    ? { promise: %promiseNew(), resolve: undefined, reject: undefined }
    : newPromiseCapability(constructor);
  const combinator = %combinator(kind, capability.promise, capability.resolve, capability.reject);
  try {
    const resolve = constructor.resolve;
    if (!%isCallable(resolve)) %typeError("Promise resolve or reject function is not callable");
    let index = 0;
    for (const item of iterable) {
      const next = %call(resolve, constructor, item);
      const id = kind >= 4 && %isObject(item) ? item.id : undefined;
      if (%hasPlainThen(next)) {
        %combinatorReact(combinator, next, index, id);
      } else {
        const functions = %combinatorFunctions(combinator, index, id);
        next.then(functions[0], functions[1]);
      }
      index++;
    }
    %combinatorClose(combinator);
  } catch (error) {
    if (isNative) %promiseReject(capability.promise, error);
    else %call(capability.reject, undefined, error);
  }
  return capability.promise;
}

function Promise_all(iterable) { return promiseCombine(this, iterable, 0); }
function Promise_allSettled(iterable) { return promiseCombine(this, iterable, 1); }
function Promise_any(iterable) { return promiseCombine(this, iterable, 2); }
function Promise_race(iterable) { return promiseCombine(this, iterable, 3); }

// --- async iteration of sync iterators

function fromSyncContinue(result, promise) {
  if (!%isObject(result)) %typeError("Iterator result " + %describe(result) + " is not an object");
  const done = !!result.done;
  %fromSyncReact(%promiseOf(result.value), promise, done);
}

function fromSyncNext(value) {
  const promise = %promiseNew();
  try {
    const iterator = %fromSyncIterator(this);
    const next = %fromSyncMethod(this);
    if (!%isCallable(next)) %notCallable(next);
    fromSyncContinue(%call(next, iterator, value), promise);
  } catch (error) {
    %promiseReject(promise, error);
  }
  return promise;
}

function fromSyncReturn(value) {
  const promise = %promiseNew();
  try {
    const iterator = %fromSyncIterator(this);
    const method = getMethod(iterator, "return");
    if (method === undefined) %promiseResolve(promise, { value, done: true });
    else fromSyncContinue(%call(method, iterator, value), promise);
  } catch (error) {
    %promiseReject(promise, error);
  }
  return promise;
}

function fromSyncThrow(value) {
  const promise = %promiseNew();
  try {
    const iterator = %fromSyncIterator(this);
    const method = getMethod(iterator, "throw");
    if (method === undefined) {
      iteratorClose(iterator);
      %typeError("The iterator does not provide a 'throw' method");
    }
    fromSyncContinue(%call(method, iterator, value), promise);
  } catch (error) {
    %promiseReject(promise, error);
  }
  return promise;
}
