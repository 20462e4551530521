/** One thing that was looked at: how it is, and how to mend it where it is not as it should be. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly about: string
  readonly detail: string
  readonly mend?: string
}

export function ok(about: string, detail: string): Finding {
  return { level: 'ok', about, detail }
}

export function warn(about: string, detail: string, mend: string): Finding {
  return { level: 'warn', about, detail, mend }
}

export function fail(about: string, detail: string, mend: string): Finding {
  return { level: 'fail', about, detail, mend }
}
