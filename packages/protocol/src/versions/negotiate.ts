import { AhpError } from '../errors.ts'

/** The generations of the protocol that we know, oldest first. The last is our own. */
export const versions = [
  '0.1.0',
  '0.2.0',
  '0.3.0',
  '0.4.0',
  '0.5.0',
  '0.5.1',
  '0.5.2',
  '0.6.0',
  '0.7.0',
  '0.8.0',
  '0.9.0',
  '1.0.0',
] as const
export type Version = (typeof versions)[number]

export const nativeVersion: Version = '1.0.0'

export interface Negotiated {
  /** As the client offered it: this is what it is answered. */
  readonly offered: string
  /** The generation that is spoken. */
  readonly version: Version
}

/** The highest offered version that a generation we know is compatible with; their order means nothing. */
export function negotiate(offered: readonly string[], speaking: readonly Version[] = versions): Negotiated {
  const ours = speaking.map((version) => ({ version, numbers: numbersOf(version) })).toReversed()
  const theirs = offered.map((text) => ({ text, numbers: numbersOf(text) }))
  for (const { text, numbers } of theirs.toSorted((a, b) => compare(b.numbers, a.numbers))) {
    const found = ours.find((known) => compatible(known.numbers, numbers))
    if (found) return { offered: text, version: found.version }
  }
  throw AhpError.unsupportedProtocolVersion(
    explain(
      theirs.map((one) => one.numbers),
      speaking,
    ),
    speaking,
  )
}

type Numbers = readonly [major: number, minor: number, patch: number]

/** Strictly MAJOR.MINOR.PATCH: no leading zeros, no pre-release, no build. */
function numbersOf(text: string): Numbers {
  const match = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/.exec(text)
  if (!match)
    throw AhpError.invalidParams(
      `protocolVersions: ${JSON.stringify(text.slice(0, 40))} is not MAJOR.MINOR.PATCH`,
    )
  return [Number(match[1]), Number(match[2]), Number(match[3])]
}

/** The caret rule: not older, and the same leftmost number that is not zero. */
function compatible(known: Numbers, offered: Numbers): boolean {
  if (compare(offered, known) < 0) return false
  const leading = known.findIndex((number) => number > 0)
  return known.every((number, i) => i > leading || number === offered[i])
}

function compare(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/** Version skew is the most common reason to be refused: say which side is behind. */
function explain(offered: readonly Numbers[], speaking: readonly Version[]): string {
  if (offered.length === 0) return 'no protocol version was offered'
  const newest = numbersOf(speaking.at(-1) ?? nativeVersion)
  const ahead = offered.every((numbers) => compare(numbers, newest) > 0)
  const behind = ahead
    ? 'this host is older than the client'
    : 'the client offers no version this host speaks'
  return `${behind}; it speaks ${speaking.join(', ')}`
}
