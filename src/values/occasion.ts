/** What happens once, and what others wait for. Pure. */
export class Occasion {
  readonly happened: Promise<void>
  /** Repeated calls change nothing. */
  readonly happen: () => void

  constructor() {
    let happen = () => {}
    this.happened = new Promise<void>((resolve) => {
      happen = resolve
    })
    this.happen = happen
  }
}
