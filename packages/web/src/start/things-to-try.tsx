interface Props {
  /** The chosen agent. */
  readonly agent: string | undefined
  readonly onPick: (task: string) => void
}

interface Example {
  readonly title: string
  readonly task: string
}

/** The tasks that the built-in guide knows, which show what a host does for every agent. */
const ofGuide: readonly Example[] = [
  { title: 'A change that asks first', task: 'write hello.md # Hello' },
  { title: 'A form of an agent', task: 'ask' },
  { title: 'A plan, live in every window', task: 'plan a first week' },
]

const ofOthers: readonly Example[] = [
  {
    title: 'Get to know a folder',
    task: 'Explain what is in this folder, and where I should begin to read.',
  },
  { title: 'Repair', task: 'Run the tests. If one fails, find the cause and fix it.' },
  { title: 'Review', task: 'Review the changes that are not committed, and tell me what you would change.' },
]

/** Three tasks for somebody who has no sessions yet. A click puts one into the field. */
export function ThingsToTry({ agent, onPick }: Props) {
  return (
    <section class="cards" aria-label="Things to try">
      <h2>Things to try</h2>
      <ul class="examples">
        {(agent === 'guide' ? ofGuide : ofOthers).map(({ title, task }) => (
          <li key={title}>
            <button type="button" class="card" onClick={() => onPick(task)}>
              <span class="card-title">{title}</span>
              <span class="card-about">{task}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="quiet">
        Sessions run on the host. They go on when this page is closed, and every window, editor and terminal
        that opens one sees the same.
      </p>
    </section>
  )
}
