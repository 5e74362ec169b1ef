// Date and Number methods that look at objects: conversions, locales, options.

// A workflow prints like en-US in UTC wherever it runs; asking for anything else is an error, not
// a silent difference.
function checkLocales(locales) {
  if (locales === undefined) return;
  const list = typeof locales === "string" ? [locales] : %toObject(locales);
  const count = %length(+list.length);
  for (let i = 0; i < count; i++) {
    const locale = `${list[i]}`;
    if (locale !== "en-US" && locale !== "en") {
      %rangeError("Only the locale en-US is available in a workflow, not " + locale);
    }
  }
}

function checkOptions(options, names) {
  if (options === undefined) return;
  const settings = %toObject(options);
  for (let i = 0; i < names.length; i++) {
    if (settings[names[i]] !== undefined) {
      %rangeError("The option " + names[i] + " is not available in a workflow");
    }
  }
}

function fractionDigits(settings, name) {
  const value = settings[name];
  if (value === undefined) return undefined;
  const digits = +value;
  if (!(digits >= 0 && digits <= 100)) %rangeError(name + " value is out of range.");
  return %integer(digits);
}

function Number_prototype_toLocaleString(locales, options) {
  const value = %thisNumber(this);
  checkLocales(locales);
  if (options === undefined) return %numberLocale(value, undefined, undefined, undefined);
  const settings = %toObject(options);
  checkOptions(settings, ["currency", "unit", "notation", "minimumIntegerDigits", "minimumSignificantDigits",
    "maximumSignificantDigits", "signDisplay", "roundingMode", "roundingIncrement", "trailingZeroDisplay"]);
  const style = settings.style;
  if (style !== undefined && `${style}` !== "decimal") {
    %rangeError("The number style " + `${style}` + " is not available in a workflow");
  }
  const minimum = fractionDigits(settings, "minimumFractionDigits");
  const maximum = fractionDigits(settings, "maximumFractionDigits");
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    %rangeError("maximumFractionDigits value is out of range.");
  }
  return %numberLocale(value, minimum, maximum, settings.useGrouping);
}

function Date_prototype_toJSON(key) {
  const object = %toObject(this);
  const time = toPrimitive(object, 1);
  if (typeof time === "number" && (time !== time || time === 1 / 0 || time === -1 / 0)) return null;
  const method = object.toISOString;
  if (!%isCallable(method)) %typeError("toISOString is not a function");
  return %call(method, object);
}

function Date_prototype_toPrimitive(hint) {
  if (!%isObject(this)) {
    %typeError("Method Date.prototype [ @@toPrimitive ] called on incompatible receiver " + %describe(this));
  }
  const isText = hint === "string" || hint === "default";
  if (!isText && hint !== "number") %typeError("Invalid hint: " + %describe(hint));
  for (let i = 0; i < 2; i++) {
    const method = isText === (i === 0) ? this.toString : this.valueOf;
    if (%isCallable(method)) {
      const result = %call(method, this);
      if (!%isObject(result)) return result;
    }
  }
  %typeError("Cannot convert object to primitive value");
}

function checkDateOptions(locales, options) {
  checkLocales(locales);
  if (options === undefined) return;
  const zone = %toObject(options).timeZone;
  if (zone !== undefined && `${zone}` !== "UTC") %rangeError("The time zone of a workflow is UTC, not " + `${zone}`);
  checkOptions(options, ["dateStyle", "timeStyle", "weekday", "era", "year", "month", "day", "dayPeriod", "hour",
    "minute", "second", "fractionalSecondDigits", "timeZoneName", "hour12", "hourCycle", "calendar", "numberingSystem"]);
}

function Date_prototype_toLocaleString(locales, options) {
  checkDateOptions(locales, options);
  return %dateLocale(this, 5);
}

function Date_prototype_toLocaleDateString(locales, options) {
  checkDateOptions(locales, options);
  return %dateLocale(this, 6);
}

function Date_prototype_toLocaleTimeString(locales, options) {
  checkDateOptions(locales, options);
  return %dateLocale(this, 7);
}
