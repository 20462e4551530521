/** The result of one check, and the remedy if it is not ok. The keys are those of `--json`. */
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
