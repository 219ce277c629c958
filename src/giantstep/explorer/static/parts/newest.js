// Answers that follow a control while it is dragged: the newest question only, one at a time.

/**
 * {ask(request), stop()}. ``send`` asks the server, ``show`` draws its answer and may take a while. At
 * most one request is under way; of those that come meanwhile the last one is sent next. After ``stop``
 * no answer is shown any more.
 */
export function newest(send, show) {
  let wanted = null;
  let busy = false;
  let turn = 0;

  async function follow(mine) {
    busy = true;
    while (wanted !== null) {
      const request = wanted;
      wanted = null;
      // What is wrong with a value on the way is told when the control is released there.
      const answer = await send(request).catch(() => null);
      if (mine !== turn) return;
      if (answer !== null) await show(answer, request);
      if (mine !== turn) return;
    }
    busy = false;
  }

  return {
    ask(request) {
      wanted = request;
      if (!busy) follow(turn);
    },
    stop() {
      turn += 1;
      wanted = null;
      busy = false;
    },
  };
}
