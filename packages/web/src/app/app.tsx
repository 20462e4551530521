import type { Client } from '@atrium/client/client'
import { useEffect, useState } from 'preact/hooks'
import { canConnect, enter } from '../link/entering.ts'
import { hostClient } from '../link/host-client.ts'
import { EnterScreen } from './enter-screen.tsx'
import { takeCode } from '../ui/route.ts'
import { Shell } from './shell.tsx'

type Stage =
  | { readonly name: 'opening' }
  | { readonly name: 'entering'; readonly problem?: string }
  | { readonly name: 'inside'; readonly client: Client }

/** The page. It asks for a code until the browser has entered, and then shows the sessions. */
export function App() {
  const [stage, setStage] = useState<Stage>({ name: 'opening' })
  const start = () => {
    const client = hostClient()
    client.onLink(({ state, reason }) => {
      if (state === 'closed') setStage({ name: 'entering', ...(reason !== undefined && { problem: reason }) })
    })
    setStage({ name: 'inside', client })
  }
  const tryCode = async (code: string) => {
    try {
      await enter(code)
      start()
    } catch (error) {
      setStage({ name: 'entering', problem: sentenceOf(error) })
    }
  }
  useEffect(() => {
    const code = takeCode()
    if (code !== undefined) {
      void tryCode(code)
      return
    }
    canConnect().then(
      (can) => (can ? start() : setStage({ name: 'entering' })),
      (error: unknown) => setStage({ name: 'entering', problem: sentenceOf(error) }),
    )
  }, [])
  if (stage.name === 'inside') return <Shell client={stage.client} />
  if (stage.name === 'opening') return <main class="center">Opening…</main>
  return <EnterScreen problem={stage.problem} onCode={(code) => void tryCode(code)} />
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
