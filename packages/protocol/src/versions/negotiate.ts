import { AhpError } from '../errors.ts'

/** The protocol versions that this package supports, oldest first. The last one is the native version. */
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

/** A second name: 1.0.0 was called 0.10.0 before its release, and VS Code 1.141 accepts only that. */
const secondNames: ReadonlyMap<Version, string> = new Map([['1.0.0', '0.10.0']])

/** All names of these versions, in the order of an offer that rises. */
export function namesOf(supported: readonly Version[]): readonly string[] {
  return supported.flatMap((version) => [secondNames.get(version) ?? [], version].flat())
}

export interface Negotiated {
  /** The chosen version as the client wrote it. The host repeats it in its response. */
  readonly offered: string
  /** The compatible version that this package knows. */
  readonly version: Version
}

/** Chooses the highest offered version that is compatible with a supported one. The order of the offer is ignored. */
export function negotiate(offered: readonly string[], supported: readonly Version[] = versions): Negotiated {
  const ours = supported
    .flatMap((version) => namesOf([version]).map((name) => ({ version, numbers: numbersOf(name) })))
    .toReversed()
  const theirs = offered.map((text) => ({ text, numbers: numbersOf(text) }))
  for (const { text, numbers } of theirs.toSorted((a, b) => compare(b.numbers, a.numbers))) {
    const found = ours.find((known) => compatible(known.numbers, numbers))
    if (found) return { offered: text, version: found.version }
  }
  throw AhpError.unsupportedProtocolVersion(
    explain(
      theirs.map((one) => one.numbers),
      supported,
    ),
    namesOf(supported),
  )
}

type Numbers = readonly [major: number, minor: number, patch: number]

/** Parses MAJOR.MINOR.PATCH. Leading zeros, pre-release tags and build tags are refused. */
function numbersOf(text: string): Numbers {
  const match = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/.exec(text)
  if (!match)
    throw AhpError.invalidParams(
      `protocolVersions: ${JSON.stringify(text.slice(0, 40))} is not MAJOR.MINOR.PATCH`,
    )
  return [Number(match[1]), Number(match[2]), Number(match[3])]
}

/** The caret rule of semantic versions: not older, and equal up to the leftmost number that is not zero. */
function compatible(known: Numbers, offered: Numbers): boolean {
  if (compare(offered, known) < 0) return false
  const leading = known.findIndex((number) => number > 0)
  return known.every((number, i) => i > leading || number === offered[i])
}

/** Whether a version is older than another one. */
export function isBefore(version: Version, other: Version): boolean {
  return versions.indexOf(version) < versions.indexOf(other)
}

function compare(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

/** Says which side is behind, because different versions are the most common reason for a refusal. */
function explain(offered: readonly Numbers[], supported: readonly Version[]): string {
  if (offered.length === 0) return 'no protocol version was offered'
  const newest = numbersOf(supported.at(-1) ?? nativeVersion)
  const ahead = offered.every((numbers) => compare(numbers, newest) > 0)
  const behind = ahead
    ? 'this host is older than the client'
    : 'the client offers no version that this host supports'
  return `${behind}; the host supports ${namesOf(supported).join(', ')}`
}
