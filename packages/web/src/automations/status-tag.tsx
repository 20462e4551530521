import { fragmentOf } from '../ui/route.ts'

interface Props {
  readonly status: string
  /** The session of the run, to which the tag leads. */
  readonly session: string | undefined
}

const looks: ReadonlyMap<string, string> = new Map([
  ['completed', 'ready'],
  ['failed', 'broken'],
  ['missed', 'needs-sign-in'],
])

/** What has become of a run, in one word. */
export function StatusTag({ status, session }: Props) {
  const look = `tag ${looks.get(status) ?? ''}`
  if (session === undefined) return <span class={look}>{status}</span>
  return (
    <a class={look} href={fragmentOf({ session })} title="Open its session">
      {status}
    </a>
  )
}
