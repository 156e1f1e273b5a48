const most = 50;
const nothing = () => {};

// The subscription by which a deployment is followed.
const follow = `subscription Follow($id: ID!) {
  deploymentChanged(id: $id) {
    deployment { status events { currentStep totalSteps message } error { code message } }
  }
}`;

// Live has the page's subscriptions. They go on while other tabs run other requests: each ends with its tab,
// or when somebody stops it. A view takes the list, which is another after each change.
export class Live {
  // list has the newest first, each {key, tab, title, state, count, events, stop}: stop is null once it has
  // ended, and events has the last {number, at, answer} of count, the newest first as well.
  list = [];
  // started is the id of the deployment that a mutation of this page has answered with last, or ''.
  started = '';

  #api;
  #here = '';
  #views = new Set();

  constructor(api) {
    this.#api = api;
  }

  // view calls changed after each change, until what it gives is called.
  view = (changed) => {
    this.#views.add(changed);
    return () => this.#views.delete(changed);
  };

  // tabsChanged ends the subscriptions whose tab is gone.
  tabsChanged({ tabs, activeTabIndex }) {
    this.#here = tabs[activeTabIndex].id;
    for (const { key, tab } of this.list) if (tab && !tabs.some(({ id }) => id === tab)) this.stop(key);
  }

  // observe gives the answers of a subscription of the present tab in the form that GraphiQL takes.
  observe(request, headers) {
    const tab = this.#here;
    return {
      subscribe: (observer) => {
        let shown = true;
        // The page may show another tab before GraphiQL lets go, whose answer this would become.
        const tell = (kind) => (value) => shown && this.#here === tab && observer[kind](value);
        const sink = { next: tell('next'), error: tell('error'), complete: tell('complete') };
        const key = this.#open({ title: request.operationName ?? 'Subscription', tab }, request, headers, sink);
        // GraphiQL lets go also when it shows another tab, and says so just afterwards.
        const unsubscribe = () => {
          shown = false;
          queueMicrotask(() => this.#here === tab && this.stop(key));
        };
        return { unsubscribe };
      },
    };
  }

  // mutated looks at the answer of a mutation for a deployment that can be followed, and gives it back.
  mutated(answer) {
    const id = Object.values(answer.data ?? {}).map((payload) => payload?.deployment?.id).find(Boolean);
    if (id) this.#change({ started: id });
    return answer;
  }

  // followStarted follows the deployment that was started last.
  followStarted() {
    const id = this.started;
    this.#change({ started: '' });
    this.#open({ title: `Follow ${id}`, tab: '' }, { query: follow, variables: { id } }, {}, { next: nothing, error: nothing, complete: nothing });
  }

  stop(key) {
    const { stop } = this.list.find((each) => each.key === key) ?? {};
    this.#end(key, 'stopped');
    stop?.();
  }

  // dismiss takes a subscription off the list.
  dismiss(key) {
    this.stop(key);
    this.#change({ list: this.list.filter((each) => each.key !== key) });
  }

  #open({ title, tab }, request, headers, sink) {
    for (const each of this.list) if (tab && each.tab === tab) this.dismiss(each.key);
    const key = crypto.getRandomValues(new Uint32Array(2)).join('-');
    this.#change({ list: [{ key, tab, title, state: 'open', count: 0, events: [], stop: nothing }, ...this.list] });
    const stop = this.#api.subscribe(request, headers, {
      next: (answer) => {
        this.#add(key, answer);
        sink.next(answer);
      },
      error: (problem) => {
        this.#add(key, { errors: [problem].flat().map(({ message, ...others }) => ({ message, ...others })) });
        this.#end(key, Array.isArray(problem) ? 'refused' : 'broken off');
        sink.error(problem);
      },
      complete: () => {
        this.#end(key, 'completed');
        sink.complete();
      },
    });
    this.#update(key, (each) => ({ ...each, stop: each.stop && stop }));
    return key;
  }

  #add(key, answer) {
    this.#update(key, ({ count, events, ...each }) => {
      const event = { number: count + 1, at: new Date(), answer };
      return { ...each, count: event.number, events: [event, ...events].slice(0, most) };
    });
  }

  #end(key, state) {
    this.#update(key, (each) => (each.stop ? { ...each, stop: null, state } : each));
  }

  #update(key, changed) {
    this.#change({ list: this.list.map((each) => (each.key === key ? changed(each) : each)) });
  }

  #change(members) {
    Object.assign(this, members);
    this.#views.forEach((changed) => changed());
  }
}
