internal import CassetteModel
internal import CassettePlayback
internal import TapeBytes

/// The state of the cassette and of the run, as JSON.
struct InspectorState {
    let moment: InspectedCassette.Moment
    /// The cassette's path.
    let path: String
    let run: InspectedRun?
    /// Exchanges that are not in the cassette yet.
    let open: OpenRows.Counts
    let older: String?
    /// Whether requests can be sent.
    let sends: Bool
    /// The name that the page shows in place of the path; nil for the path.
    let name: String?
    /// Whether the cassette only stands for "none".
    let isBlank: Bool
    /// The other tabs of the page; nil if this one is not the first.
    let others: Others?

    /// The tabs of a page besides the first, and what the page may do about them.
    struct Others: Sendable {
        struct Tab: Sendable {
            var id: Int
            var name: String
            var rows: Int
            var known: Int
            var epoch: Int
            /// The number of the last change of its open exchanges.
            var open: Int
            /// The address of the proxy while it is being recorded.
            var proxy: String?
            var isPaused: Bool
            var notes: [String]
        }

        var tabs: [Tab]
        /// Whether the page may open files.
        var opens: Bool
        /// Whether the page may start recordings.
        var records: Bool
    }

    /// The state as JSON.
    func bytes() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("version")
        writer.string(Version.current)
        writer.member("mode")
        writer.string(self.run?.command ?? "inspect")
        writer.member("file")
        writer.string(self.name ?? self.run?.name ?? self.path)
        writer.member("path")
        writer.string(self.name ?? self.path)
        writer.member("epoch")
        writer.integer(self.moment.rows.epoch)
        writer.member("rows")
        writer.integer(self.moment.rows.count)
        writer.member("known")
        writer.integer(self.moment.epoch.ranges.count)
        writer.member("sorted")
        writer.bool(self.moment.rows.isSorted)
        if self.moment.rows.count > 0 {
            writer.member("first")
            writer.integer(Int(self.moment.rows.firstStart))
            writer.member("last")
            writer.integer(Int(self.moment.rows.lastEnd))
        }
        writer.member("open")
        writer.integer(self.open.exchanges)
        writer.member("openMessages")
        writer.integer(self.open.messages)
        writer.member("openChange")
        writer.integer(self.open.change)
        if let older {
            writer.member("older")
            writer.string(older)
        }
        if self.isBlank {
            writer.member("blank")
            writer.bool(true)
        }
        writer.member("sends")
        writer.bool(self.sends)
        self.run.map { Self.write($0, &writer) }
        self.others?.write(&writer)
        if let damage = self.moment.epoch.damage {
            writer.member("damage")
            writer.string(damage.summary)
        }
        if let problem = self.moment.problem {
            writer.member("problem")
            writer.string(problem)
        }
        writer.endObject()
        return writer.bytes + [10]
    }

    private static func write(_ run: InspectedRun, _ writer: inout JSONWriter) {
        let counts = run.counts()
        let numbers: [(StaticString, Int)] = [
            ("hits", counts.hits), ("misses", counts.misses), ("recorded", counts.recorded), ("lost", counts.lost),
        ]
        for (name, number) in numbers {
            writer.member(name)
            writer.integer(number)
        }
        writer.member("replays")
        writer.bool(run.report != nil)
        if run.match != nil {
            writer.member("matches")
            writer.bool(true)
        }
        if let pause = run.pause {
            writer.member("recordingPaused")
            writer.bool(pause(nil))
        }
        if let problem = counts.problem {
            writer.member("obstacle")
            writer.string(problem)
        }
        run.review.map { self.write($0, &writer) }
        run.rules.map { self.write($0, &writer) }
        (run.isolation?()).map { self.write($0, &writer) }
    }

    private static func write(_ isolation: InspectedRun.Isolation, _ writer: inout JSONWriter) {
        writer.member("isolation")
        writer.beginObject(.inline)
        writer.member("verdict")
        writer.string(isolation.verdict)
        writer.member("refused")
        writer.beginArray(.inline)
        for line in isolation.refused {
            writer.element()
            writer.string(line)
        }
        writer.endArray()
        writer.endObject()
    }

    private static func write(_ rules: InspectedRules, _ writer: inout JSONWriter) {
        let paused = rules.desk.progress
        writer.member("traffic")
        writer.beginObject(.inline)
        // A page asks for the rules and the messages again when these numbers change.
        for (name, number) in [
            ("list", rules.engine.list), ("activity", rules.engine.activity), ("paused", paused.count), ("pausedChange", paused.change),
        ] {
            writer.member(named: name)
            writer.integer(number)
        }
        writer.endObject()
    }

    private static func write(_ question: ReviewQuestion, _ writer: inout JSONWriter) {
        let (phase, side, words): (StaticString, ReviewQuestion.Side?, String?) =
            switch question.phase {
            case .closed: ("closed", nil, nil)
            case .open: ("open", nil, nil)
            case .answered(let answer, let side): ("answered", side, answer.rawValue)
            case .done(let words, let side): ("done", side, words)
            case .failed(let message): ("failed", nil, message)
            }
        writer.member("review")
        writer.beginObject(.inline)
        writer.member("phase")
        writer.string(phase.description)
        for (name, text) in [("by", side?.rawValue), ("words", words)] {
            guard let text else { continue }
            writer.member(named: name)
            writer.string(text)
        }
        writer.endObject()
    }
}

extension InspectorState.Others {
    /// The members of the state about other tabs.
    func write(_ writer: inout JSONWriter) {
        writer.member("opens")
        writer.bool(self.opens)
        writer.member("records")
        writer.bool(self.records)
        writer.member("tabs")
        writer.beginArray(.inline)
        for tab in self.tabs {
            writer.element()
            writer.beginObject(.inline)
            for (name, number) in [("id", tab.id), ("rows", tab.rows), ("known", tab.known), ("epoch", tab.epoch), ("open", tab.open)] {
                writer.member(named: name)
                writer.integer(number)
            }
            writer.member("name")
            writer.string(tab.name)
            if let proxy = tab.proxy {
                writer.member("proxy")
                writer.string(proxy)
                writer.member("paused")
                writer.bool(tab.isPaused)
            }
            if !tab.notes.isEmpty {
                writer.member("notes")
                writer.beginArray(.inline)
                for note in tab.notes.prefix(20) {
                    writer.element()
                    writer.string(note)
                }
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endArray()
    }
}
