/**
 * A strict reader of OTLP/JSON requests: it knows each member that a log record, a span and a metric may have, and how its values are
 * written. It finds what a lenient collector would drop without a word.
 */
type Check = (value: unknown, path: string) => readonly string[]

/** The problems of a request, one sentence for each. */
export function otlpProblems(signal: 'logs' | 'traces' | 'metrics', payload: unknown): readonly string[] {
  return requests[signal](payload, signal)
}

const is =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? [] : [`${path}: expected ${what}; got ${JSON.stringify(value)?.slice(0, 80)}`]

const matches = (what: string, form: RegExp) =>
  is(what, (value) => typeof value === 'string' && form.test(value))

const text = is('a string', (value) => typeof value === 'string')
const flag = is('a boolean', (value) => typeof value === 'boolean')
const double = is('a number', (value) => typeof value === 'number')
const long = matches('a 64-bit integer as a decimal string', /^-?\d{1,19}$/)
const nanos = matches('nanoseconds since 1970 as a decimal string', /^[1-9]\d{15,18}$/)
const traceId = matches('32 hexadecimal digits', /^(?!0{32})[\da-f]{32}$/)
const spanId = matches('16 hexadecimal digits', /^(?!0{16})[\da-f]{16}$/)
const among = (most: number, least = 0) =>
  is(`an enum as a number from ${least} to ${most}`, (value) => {
    return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
  })

const list =
  (item: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((each, at) => item(each, `${path}[${at}]`))
      : [`${path}: expected a list`]

/** An object with these members and no others. A member whose name ends with `?` may be absent. */
function object(members: { readonly [name: string]: Check }): Check {
  const named = Object.entries(members).map(([name, check]) => ({
    name: name.replace('?', ''),
    optional: name.endsWith('?'),
    check,
  }))
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${path}: expected an object`]
    const given = new Map(Object.entries(value))
    const unknown = [...given.keys()].filter((key) => !named.some(({ name }) => name === key))
    return [
      ...unknown.map((key) => `${path}: unknown member ${key}`),
      ...named.flatMap(({ name, optional, check }) => {
        if (!given.has(name)) return optional ? [] : [`${path}: ${name} is missing`]
        return check(given.get(name), `${path}.${name}`)
      }),
    ]
  }
}

/** An object with exactly one of these members. */
function oneOf(members: { readonly [name: string]: Check }): Check {
  const names = Object.keys(members)
  const each = object(Object.fromEntries(names.map((name) => [`${name}?`, members[name] ?? text])))
  return (value, path) => {
    const problems = each(value, path)
    if (problems.length > 0) return problems
    return Object.keys(Object(value)).length === 1
      ? []
      : [`${path}: expected exactly one of ${names.join(', ')}`]
  }
}

const value = oneOf({ stringValue: text, boolValue: flag, intValue: long, doubleValue: double })
const attributes = list(object({ key: text, value }))
const resource = object({ attributes })
const scope = object({ name: text, 'version?': text })

const logRecord = object({
  timeUnixNano: nanos,
  'observedTimeUnixNano?': nanos,
  severityNumber: among(24, 1),
  'severityText?': text,
  body: value,
  'attributes?': attributes,
  'traceId?': traceId,
  'spanId?': spanId,
})

const span = object({
  traceId,
  spanId,
  'parentSpanId?': spanId,
  name: text,
  kind: among(5, 1),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  status: object({ 'code?': among(2), 'message?': text }),
})

const point = { timeUnixNano: nanos, 'startTimeUnixNano?': nanos, 'attributes?': attributes }
const numbers = list(object({ ...point, 'asInt?': long, 'asDouble?': double }))
const histogram = object({
  ...point,
  count: long,
  'sum?': double,
  bucketCounts: list(long),
  explicitBounds: list(double),
})
const metric: Check = (given, path) => {
  const { name, unit, description, ...data } = Object(given)
  return [
    ...object({ name: text, 'unit?': text, 'description?': text })(
      { name, ...(unit !== undefined && { unit }), ...(description !== undefined && { description }) },
      path,
    ),
    ...oneOf({
      gauge: object({ dataPoints: numbers }),
      sum: object({ dataPoints: numbers, aggregationTemporality: among(2, 1), isMonotonic: flag }),
      histogram: object({ dataPoints: list(histogram), aggregationTemporality: among(2, 1) }),
    })(data, path),
  ]
}

const request = (signal: string, scoped: string, records: string, record: Check) =>
  object({ [signal]: list(object({ resource, [scoped]: list(object({ scope, [records]: list(record) })) })) })

const requests = {
  logs: request('resourceLogs', 'scopeLogs', 'logRecords', logRecord),
  traces: request('resourceSpans', 'scopeSpans', 'spans', span),
  metrics: request('resourceMetrics', 'scopeMetrics', 'metrics', metric),
} as const
