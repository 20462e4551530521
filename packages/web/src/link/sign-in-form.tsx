import type { Client } from '@atrium/client/client'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { useShown } from '../ui/shown.ts'
import { failedRequest, failureWords } from './outcome-words.ts'

interface Props {
  readonly client: Client
  readonly resource: ProtectedResourceMetadata
  readonly onDone: () => void
  /** Further buttons. */
  readonly children?: ComponentChildren
}

/**
 * Signs in to a resource. A token goes to the host and is not kept here. A resource that takes no token has only the button: the
 * agent on the machine of the host signs in by itself.
 */
export function SignInForm({ client, resource: metadata, onDone, children }: Props) {
  const { resource, bearer_methods_supported: methods } = metadata
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const shown = useShown()
  // A token that was typed and not sent is forgotten when a person leaves the session.
  useEffect(() => {
    if (!shown) setToken('')
  }, [shown])
  const takesToken = methods === undefined || methods.length > 0
  const signIn = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      await client.ask('authenticate', { resource, token: takesToken ? token : 'sign in' })
      setToken('')
      onDone()
    } catch (error) {
      setProblem(
        failureWords(failedRequest(error), 'The sign-in was refused', 'the host has taken the sign-in'),
      )
    }
    setBusy(false)
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        void signIn()
      }}
    >
      {takesToken && (
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="choices">
        <Button submit look="primary" disabled={busy || (takesToken && token === '')}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
        {children}
      </div>
    </form>
  )
}
