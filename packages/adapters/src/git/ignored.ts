import { limits } from '@atrium/protocol/limits'
import type { StandIn } from './shadow-git-dir.ts'

/**
 * Which of these paths git ignores. It gives up at the first that it cannot judge (behind a link, in a submodule): such a
 * one is not ignored, and the question goes on after it.
 */
export async function askIgnored(standIn: StandIn, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>()
  let rest = paths.filter(isBelow)
  for (let odd = 0; rest.length > 0; odd++) {
    if (odd > limits.vcsOddPaths) throw new Error('git cannot judge so many of these paths')
    const { said, code } = await standIn.try(ask, rest.map((path) => `./${path}\0`).join(''))
    const judged = judgements(said)
    for (const [i, isIgnored] of judged.entries()) if (isIgnored) ignored.add(rest[i] as string)
    // 1 is that none of them is ignored.
    if (code === 0 || code === 1) break
    rest = rest.slice(judged.length + 1)
  }
  return ignored
}

/** Every path is answered, so that one can see how far it came. */
const ask = ['check-ignore', '-z', '--stdin', '--verbose', '--non-matching']

/** For each: where the rule stands, in which line, the rule, the path. A rule that begins with ! makes an exception. */
function judgements(said: Buffer): readonly boolean[] {
  const fields = said.toString().split('\0')
  const judged: boolean[] = []
  for (let i = 0; i + 3 < fields.length; i += 4)
    judged.push(fields[i] !== '' && !fields[i + 2]?.startsWith('!'))
  return judged
}

function isBelow(path: string): boolean {
  return path !== '' && !path.includes('\0') && !path.startsWith('/') && !path.split('/').includes('..')
}
