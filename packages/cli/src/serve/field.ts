/** One setting: its flag, its environment variable, what it does, and the values that it accepts. */
export interface Field {
  /** Absent if the setting has no flag. */
  readonly flag?: string
  readonly variable: string
  /** Whether the value is the path of a file or a folder. */
  readonly isPath?: true
  /** What the setting does, and its default. This text is in docs/config.md. */
  readonly about: string
  /** What a value must be, for the error message: the message ends with "must be" and this text. */
  readonly wants: string
  accepts(value: unknown): boolean
  /** Parses the text of a flag or of a variable. Returns invalid text as it is, for `accepts` to refuse. */
  parse(text: string): unknown
}

export type Names = Pick<Field, 'flag' | 'variable' | 'about'>

export const text = (names: Names, wants: string): Field => ({
  ...names,
  wants,
  accepts: (value) => typeof value === 'string' && !value.includes('\0'),
  parse: (value) => value,
})

export const list = (names: Names, wants: string): Field => ({
  ...text(names, wants),
  accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
  parse: (value) => value.split(',').map((one) => one.trim()),
})

export const yesNo = (names: Names): Field => ({
  ...text(names, 'true or false'),
  accepts: (value) => typeof value === 'boolean',
  parse: (value) => ({ true: true, 1: true, false: false, 0: false })[value] ?? value,
})

export function json(names: Names, wants: string, accepts: Field['accepts']): Field {
  const parse = (value: string): unknown => {
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  }
  return { ...names, wants, accepts, parse }
}

export function path(names: Names): Field {
  const accepts = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\0')
  return { ...text(names, 'a path'), isPath: true, accepts }
}
