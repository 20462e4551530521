import type { JsonObject } from '@atrium/protocol/json'
import { attributesOf, nanos } from './otlp.ts'
import type { Attributes } from './otlp.ts'

/** A span that has begun. */
export interface Began {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  /** Wall time in milliseconds. */
  readonly at: number
}

interface Ended {
  readonly name: string
  /** The type of the failure; undefined if there was none. Its text may quote files and is not sent. */
  readonly error?: string | undefined
  readonly values: object
}

/** A finished span. A clock that was set back gives it no negative length. */
export function span({ at, traceId, spanId, parentSpanId }: Began, end: number, ended: Ended): JsonObject {
  const { name, error, values } = ended
  const attributes: Attributes = { ...values, 'error.type': error }
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: internal,
    startTimeUnixNano: nanos(at),
    endTimeUnixNano: nanos(Math.max(at, end)),
    attributes: attributesOf(attributes),
    status: error === undefined || error === 'cancelled' ? {} : { code: failed },
  }
}

const internal = 1
const failed = 2
