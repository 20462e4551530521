import { ChevronFirst, ChevronLast, Pause, Play, StepBack, StepForward } from 'lucide'
import { Button } from '../ui/button.tsx'
import { newest } from './use-past.ts'

interface Props {
  readonly position: number
  readonly total: number
  readonly playing: boolean
  readonly step: number
  /** What happened at this position. A screen reader says it as the value of the slider. */
  readonly words: string
  readonly onGo: (position: number) => void
  readonly onPlay: (on: boolean) => void
  readonly onStep: (step: number) => void
}

const steps = [1, 10, 100]

/** The slider over the past of a chat, and buttons that play it or go one step. */
export function Controls({ position, total, playing, step, words, onGo, onPlay, onStep }: Props) {
  const go = (to: number) => {
    onPlay(false)
    onGo(Math.min(total, Math.max(0, to)))
  }
  const begins = position === 0
  const ends = position >= total
  return (
    <div class="past-controls" role="group" aria-label="Move through the past">
      <input
        type="range"
        min={0}
        max={total}
        value={position}
        aria-label="Place in the past"
        aria-valuetext={words}
        onInput={({ currentTarget }) => go(Number(currentTarget.value))}
      />
      <div class="past-buttons">
        <Button
          icon={ChevronFirst}
          label="To the beginning"
          look="quiet"
          disabled={begins}
          onClick={() => go(0)}
        />
        <Button
          icon={StepBack}
          label="Step back"
          look="quiet"
          disabled={begins}
          onClick={() => go(position - step)}
        />
        <Button
          icon={playing ? Pause : Play}
          label={playing ? 'Pause' : 'Play'}
          look="primary"
          disabled={total === 0}
          onClick={() => {
            if (!playing && ends) onGo(0)
            onPlay(!playing)
          }}
        />
        <Button
          icon={StepForward}
          label="Step forward"
          look="quiet"
          disabled={ends}
          onClick={() => go(position + step)}
        />
        <Button
          icon={ChevronLast}
          label="To the end"
          look="quiet"
          disabled={ends}
          onClick={() => {
            onPlay(false)
            onGo(newest)
          }}
        />
        <label class="past-step">
          <span>Step</span>
          <select value={step} onChange={({ currentTarget }) => onStep(Number(currentTarget.value))}>
            {steps.map((count) => (
              <option key={count} value={count}>
                {count === 1 ? '1 action' : `${count} actions`}
              </option>
            ))}
          </select>
        </label>
        <output class="past-place">
          {position} of {total}
        </output>
      </div>
    </div>
  )
}
