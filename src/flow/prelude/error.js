// Errors: causes behind getters, AggregateError, toString of unusual errors.

function errorWithCause(constructor, newTarget, message, options) {
  const cause = options.cause;
  return %construct(constructor, newTarget, message, { cause });
}

function aggregateErrorWithCause(constructor, newTarget, errors, message, options) {
  const cause = options.cause;
  return %construct(constructor, newTarget, errors, message, { cause });
}

function aggregateErrorFill(error, iterable) {
  const errors = [];
  eachItem(iterable, (item) => { %put(errors, errors.length, item); });
  %hide(error, "errors", errors);
  return error;
}

function Error_prototype_toString() {
  let name = this.name;
  name = name === undefined ? "Error" : `${name}`;
  let message = this.message;
  message = message === undefined ? "" : `${message}`;
  if (name === "") return message;
  return message === "" ? name : `${name}: ${message}`;
}
