/** A message of JSON-RPC, as far as the driver looks into it. */
export interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly channel?: string
    readonly action?: Readonly<Record<string, unknown>> & { readonly type: string }
    readonly rejectionReason?: string
    readonly [key: string]: unknown
  }
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** One message between the workbench and the host, or the end of a link. */
export interface Frame {
  /** Milliseconds since the tap, the proxy that records the messages, was opened. */
  readonly at: number
  /** Number of the link, from 1. */
  readonly link: number
  readonly from: 'client' | 'host'
  /** Absent for the end of a link. */
  readonly message?: Message
  /** The text, if it is no JSON. */
  readonly text?: string
}

export type Matcher = (frame: Frame) => boolean

/** Matches an action of this type that the workbench dispatched. */
export function dispatched(type: string, fits: (action: Action) => boolean = () => true): Matcher {
  return ({ from, message }) => {
    const action = message?.params?.action
    return from === 'client' && action?.type === type && fits(action)
  }
}

/** Matches an action of this type from the host. Actions that the host rejected do not match. */
export function announced(type: string, fits: (action: Action) => boolean = () => true): Matcher {
  return ({ from, message }) => {
    const action = message?.params?.action
    const rejected = message?.params?.rejectionReason !== undefined
    return from === 'host' && action?.type === type && !rejected && fits(action)
  }
}

/** Matches a request or a notification of the workbench. */
export function called(method: string): Matcher {
  return ({ from, message }) => from === 'client' && message?.method === method
}

export type Action = Readonly<Record<string, unknown>> & { readonly type: string }

/** Returns the actions of the workbench that the host rejected, with the reasons. */
export function rejections(frames: readonly Frame[]): readonly string[] {
  return frames.flatMap(({ message }) => {
    const { action, rejectionReason } = message?.params ?? {}
    return action && rejectionReason !== undefined ? [`${action.type}: ${rejectionReason}`] : []
  })
}

/** Returns the errors with which the host answered requests, with the methods of the requests. */
export function errors(frames: readonly Frame[]): readonly string[] {
  const methods = new Map<string, string>()
  const found: string[] = []
  for (const { link, from, message } of frames) {
    if (message?.id === undefined) continue
    const key = `${link} ${message.id}`
    if (from === 'client' && message.method !== undefined) methods.set(key, message.method)
    if (from === 'host' && message.error)
      found.push(`${methods.get(key) ?? '?'}: ${message.error.code} ${message.error.message}`)
  }
  return found
}
