internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import Dispatch
internal import LocalHTTP
internal import TapeBytes

/// The cassettes of one page, each in a tab: the command's own, and those that were opened or recorded from the page.
///
/// Only the page knows which tab is in front. A request for another tab than the command's has `/api/t/TAB` in place of `/api`.
final class InspectorTabs: Sendable {
    /// More would not fit into the page's row of tabs.
    private static let limit = 24

    private struct Tab {
        let id: Int
        let name: String
        let service: InspectorService
        /// What an import could not keep, for people.
        let notes: [String]
        /// The folder of the cassette, which goes with the tab.
        let folder: String
        /// nil unless it is being recorded.
        var recording: PageRecording?
    }

    private struct State {
        var tabs: [Tab] = []
        var last = 0
        var recordings = 0
        var isClosed = false
        /// Made with the first file.
        var folder: PrivateFolder?
        var files: DroppedFiles?
    }

    /// The command's own cassette.
    let main: InspectorService
    private let tools: InspectorTools
    private let state = Guarded(State())

    init(_ main: InspectorService, tools: InspectorTools = InspectorTools()) {
        self.main = main
        self.tools = tools
        self.announce()
    }

    // MARK: Requests

    /// Long work ends early if it is cancelled (`WorkCancellation`).
    func answer(_ request: LocalRequest) -> InspectorService.Answer {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("d", 3):
            let services = [self.main] + self.state.withLock { $0.tabs.map(\.service) }
            return (services.first { $0.holds(ticket: parts[1]) } ?? self.main).answer(request)
        case ("api", 2) where parts[1] == "uploads":
            return self.main.answering { .whole(try self.compareUploads(request)) }
        case ("api", 2) where parts[1] == "diffs":
            return self.main.answering { try self.diff(request) }
        case ("api", 2...) where parts[1] == "tabs":
            return self.main.answering { try self.change(request, Array(parts.dropFirst(2))) }
        case ("api", 4...) where parts[1] == "t":
            guard let tab = Int(parts[2]).flatMap({ self.tab($0) }) else {
                return .whole(
                    LocalAnswer(status: 404, reason: "Not Found", code: "tab", message: "that tab was closed: open the file again."))
            }
            var request = request
            request.path = "/api/" + parts.dropFirst(3).joined(separator: "/")
            return tab.service.answer(request)
        default: return self.main.answer(request)
        }
    }

    private func tab(_ id: Int) -> Tab? { self.state.withLock { $0.tabs.first { $0.id == id } } }

    private func change(_ request: LocalRequest, _ parts: [String]) throws -> InspectorService.Answer {
        guard parts.count <= 1 else { throw InspectorService.unknown }
        guard let action = parts.first else {
            try InspectorService.allow(request, "GET")
            return .whole(InspectorService.json(self.list))
        }
        try InspectorService.allow(request, "POST")
        if action == "upload" { return .whole(InspectorService.json(try self.upload(request))) }
        let order = try InspectorOrder(request.body)
        switch action {
        case "open": return .stream(try self.open(order))
        case "record": return .whole(InspectorService.json(try self.record()))
        case "stop": try self.stop(self.chosen(order))
        case "close": try self.close(self.chosen(order))
        default: throw InspectorService.unknown
        }
        return .whole(InspectorService.json(self.list))
    }

    // MARK: Comparisons

    /// Compares the uploads of two exchanges, which may be in different tabs.
    private func compareUploads(_ request: LocalRequest) throws -> LocalAnswer {
        try InspectorService.allow(request, "POST")
        let order = try InspectorOrder(request.body)
        let (left, right) = (try self.exchange("left", order), try self.exchange("right", order))
        do {
            let comparison = try UploadComparison(
                UploadComparison.Side(left.interaction, reader: BodyReader(cassettePath: left.path)),
                UploadComparison.Side(right.interaction, reader: BodyReader(cassettePath: right.path)))
            var writer = JSONWriter()
            writer.beginObject(.inline)
            comparison.write(to: &writer)
            writer.endObject()
            return InspectorService.json(writer.bytes + [10])
        } catch let error as InspectError {
            throw InspectorService.bad("uploads", error.message)
        }
    }

    /// Compares two exchanges field by field, which may be in different tabs.
    private func diff(_ request: LocalRequest) throws -> InspectorService.Answer {
        let order = try InspectorOrder(request.body)
        guard order.values["left"]?.kind == .object else { return self.main.answer(request) }
        try InspectorService.allow(request, "POST")
        let (left, right) = (try self.exchange("left", order), try self.exchange("right", order))
        return .whole(
            InspectorService.json(
                try DiffService.bytes(
                    left.interaction, right.interaction, old: left.path, new: right.path, digest: self.tools.digest)))
    }

    /// - Parameter name: of a member such as `{"tab": 0, "key": 3}`.
    private func exchange(_ name: String, _ order: InspectorOrder) throws -> (interaction: Interaction, path: String) {
        guard let tab = order.values[name]?["tab"]?.int, let key = order.values[name]?["key"]?.int, let service = self.service(tab),
            key >= 1, key <= service.cassette.moment.rows.count
        else { throw InspectorService.bad(name, "\"\(name)\" takes the number of a tab and the key of an exchange") }
        return (try service.cassette.moment.interaction(key - 1, of: service.cassette), service.cassette.path)
    }

    // MARK: Tabs

    private func chosen(_ order: InspectorOrder) throws(LocalAnswer) -> Tab {
        guard let tab = order.values["tab"]?.int.flatMap({ self.tab($0) }) else {
            throw InspectorService.bad("tab", "\"tab\" takes the number of a tab that was opened here")
        }
        return tab
    }

    // MARK: Files

    /// The private folder of this page, which is made with its first file.
    private func folder() throws -> String {
        if let folder = self.state.withLock({ $0.folder }) { return folder.path }
        guard let make = self.tools.folder else {
            throw LocalAnswer(
                status: 403, reason: "Forbidden", code: "opens-nothing",
                message: "this page opens no files: open them with \"wiretape inspect --web\".")
        }
        let folder = try make()
        let isClosed = self.state.withLock { state in
            state.folder = folder
            return state.isClosed
        }
        if isClosed { folder.remove() }
        return folder.path
    }

    private func files() throws -> DroppedFiles {
        if let files = self.state.withLock({ $0.files }) { return files }
        let files = DroppedFiles(folder: try self.folder())
        return self.state.withLock { state in
            if let files = state.files { return files }
            state.files = files
            return files
        }
    }

    /// Takes a piece of a dropped file.
    private func upload(_ request: LocalRequest) throws -> [UInt8] {
        guard let arguments = request.arguments, let name = arguments["name"], let offset = arguments["offset"].flatMap({ Int($0) }) else {
            throw InspectorService.bad("upload", "\"name\" and \"offset\" describe a piece of a file")
        }
        let drop = try self.files().take(request.body, of: name, at: offset, drop: arguments["drop"].flatMap { Int($0) })
        return Array("{ \"drop\": \(drop) }\n".utf8)
    }

    /// Opens what was dropped, on a thread of its own: lines of JSON with the number of exchanges read so far, and at the end the tabs or
    /// the problem.
    private func open(_ order: InspectorOrder) throws -> LocalStream {
        guard let drop = order.values["drop"]?.int, let name = try order.text("name") else {
            throw InspectorService.bad("open", "\"drop\" and \"name\" say what to open")
        }
        let claim = try self.files().claim(drop)
        let job = OpeningJob { progress in try self.open(DroppedFiles.Opening(claim), name, progress) }
        return InspectorService.lines { try job.next() }
    }

    /// Each cassette gets a tab of its own, and recordings of other tools after an import.
    private func open(_ opening: DroppedFiles.Opening, _ name: String, _ progress: ImportProgress) throws -> [UInt8] {
        defer { opening.end() }
        let found = try opening.cassettes(named: name, importing: self.tools.importRecordings, progress)
        var opened: [Int] = []
        for cassette in found {
            do {
                opened.append(try self.add(cassette.name, cassette.path, in: cassette.folder, cassette.notes))
            } catch let error as CassetteError {
                opening.note(error.message)
            } catch let refusal as LocalAnswer {
                // There is no room for more tabs.
                opening.note(refusal.problem)
                break
            }
        }
        guard !opened.isEmpty else {
            throw LocalAnswer(status: 422, reason: "Unprocessable Content", code: "open", message: opening.problem(name))
        }
        opening.keep()
        return self.answer(opened: opened, notes: opening.notes)
    }

    private func add(
        _ name: String, _ path: String, in folder: String, _ notes: [String] = [], recording: PageRecording? = nil
    ) throws -> Int {
        guard self.state.withLock({ $0.tabs.count < Self.limit }) else {
            throw LocalAnswer(
                status: 409, reason: "Conflict", code: "tabs", message: "\(Self.limit) tabs are open: close some, then open the rest.")
        }
        let cassette = try InspectedCassette(path: path, schema: self.main.cassette.schema)
        while cassette.refresh(), !cassette.moment.isIndexed {}
        let id = self.state.withLock { state in
            state.last += 1
            return state.last
        }
        var tools = self.tools
        if recording != nil { tools.send = nil }
        let service = InspectorService(cassette: cassette, run: recording?.run, tools: tools, name: name)
        self.state.withLock {
            $0.tabs.append(Tab(id: id, name: name, service: service, notes: notes, folder: folder, recording: recording))
        }
        self.announce()
        return id
    }

    private func answer(opened: [Int], notes: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("opened")
        writer.beginArray(.inline)
        for id in opened {
            writer.element()
            writer.integer(id)
        }
        writer.endArray()
        writer.member("notes")
        writer.beginArray(.inline)
        for note in notes {
            writer.element()
            writer.string(note)
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    // MARK: Recordings

    /// Starts a recording in a tab of its own.
    private func record() throws -> [UInt8] {
        guard let record = self.tools.record else {
            throw LocalAnswer(
                status: 403, reason: "Forbidden", code: "records-nothing",
                message: "this page starts no recordings: start one with \"wiretape inspect --web\", or on the command line.")
        }
        let number = self.state.withLock { state in
            state.recordings += 1
            return state.recordings
        }
        let name = "recording-\(number).json"
        let folder = "\(try self.folder())/r\(number)"
        try DroppedFiles.makeFolder(folder)
        let recording = try record("\(folder)/\(name)")
        do {
            return self.answer(opened: [try self.add(name, "\(folder)/\(name)", in: folder, recording: recording)], notes: [])
        } catch {
            try? recording.stop()
            throw error
        }
    }

    /// Ends the recording of a tab, which shows the finished cassette from then on.
    private func stop(_ tab: Tab) throws {
        // Whoever takes the recording ends it: another page may be faster.
        let recording = self.state.withLock { state -> PageRecording? in
            guard let place = state.tabs.firstIndex(where: { $0.id == tab.id }) else { return nil }
            defer { state.tabs[place].recording = nil }
            return state.tabs[place].recording
        }
        guard let recording else { return }
        let result = Result { try recording.stop() }
        let finished = InspectorService(cassette: tab.service.cassette, tools: self.tools, name: tab.name)
        _ = tab.service.cassette.refresh()
        self.state.withLock { state in
            guard let place = state.tabs.firstIndex(where: { $0.id == tab.id }) else { return }
            state.tabs[place] = Tab(
                id: tab.id, name: tab.name, service: finished, notes: tab.notes, folder: tab.folder, recording: nil)
        }
        self.announce()
        try result.get()
    }

    private func close(_ tab: Tab) throws {
        try self.stop(tab)
        let isShared = self.state.withLock { state in
            state.tabs.removeAll { $0.id == tab.id }
            return state.tabs.contains { $0.folder == tab.folder }
        }
        if !isShared { DroppedFiles.remove(tab.folder) }
        self.announce()
    }

    // MARK: State

    /// Reads what is new in the cassettes of other tabs.
    func look() {
        for tab in self.state.withLock({ $0.tabs }) {
            let cassette = tab.service.cassette
            var count = cassette.moment.rows.count
            while cassette.refresh() {
                tab.service.settle(after: cassette.moment.rows.count < count ? 0 : count)
                count = cassette.moment.rows.count
                if cassette.moment.isIndexed { break }
            }
            tab.service.open.look(besides: cassette.moment.rows)
        }
        self.announce()
    }

    /// Tells the main cassette's state about the others, so that a page hears of all of them.
    private func announce() { self.main.others.withLock { $0 = self.listed } }

    private var listed: InspectorState.Others {
        InspectorState.Others(
            tabs: self.state.withLock { $0.tabs }.map { tab in
                let moment = tab.service.cassette.moment
                return InspectorState.Others.Tab(
                    id: tab.id, name: tab.name, rows: moment.rows.count, known: moment.epoch.ranges.count, epoch: moment.rows.epoch,
                    open: tab.service.open.counts.change, proxy: tab.recording?.address,
                    isPaused: tab.recording?.run.pause?(nil) ?? false, notes: tab.notes)
            }, opens: self.tools.folder != nil, records: self.tools.record != nil)
    }

    private var list: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        self.listed.write(&writer)
        writer.endObject()
        return writer.bytes + [10]
    }

    /// Ends the recordings, and removes everything that was opened here. For a thread that may block.
    func close() {
        let (tabs, folder) = self.state.withLock { state in
            state.isClosed = true
            return (state.tabs, state.folder)
        }
        for tab in tabs { try? tab.recording?.stop() }
        folder?.remove()
    }

    /// The cassette of a tab; that of the command for 0.
    func service(_ id: Int) -> InspectorService? { id == 0 ? self.main : self.tab(id)?.service }
}

/// Opens files on a thread of its own, and reports how far it is.
///
/// Not Sendable: `LocalStream` asks for the lines in turn. If nobody does any more, the work ends.
private final class OpeningJob {
    /// Between two lines.
    private static let pause = DispatchTimeInterval.milliseconds(250)

    private let progress = ImportProgress()
    private let result = Guarded<[UInt8]?>(nil)
    private let ended = DispatchSemaphore(value: 0)
    private var isOver = false

    /// - Parameter open: returns the last line.
    init(_ open: @escaping @Sendable (ImportProgress) throws -> [UInt8]) {
        let (progress, result, ended) = (self.progress, self.result, self.ended)
        let isRunning = DedicatedThread.start {
            let line: [UInt8]
            do {
                line = try open(progress)
            } catch let refusal as LocalAnswer {
                line = Self.problem(refusal.problem)
            } catch let error as CassetteError {
                line = Self.problem(error.message)
            } catch {
                line = Self.problem("\(error)")
            }
            result.withLock { $0 = line }
            ended.signal()
        }
        guard !isRunning else { return }
        self.result.withLock { $0 = Self.problem("no thread can be created to open them: close some tabs.") }
        self.ended.signal()
    }

    deinit { self.progress.cancel() }

    /// The next line; nil after the last one.
    func next() throws -> [UInt8]? {
        guard !self.isOver else { return nil }
        try CassetteError.checkCancellation()
        guard self.ended.wait(timeout: .now() + Self.pause) == .success else {
            return Array("{ \"read\": \(self.progress.count) }\n".utf8)
        }
        self.isOver = true
        return self.result.withLock { $0 }
    }

    private static func problem(_ message: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("problem")
        writer.string(message)
        writer.endObject()
        return writer.bytes + [10]
    }
}

extension LocalAnswer {
    /// The message of a refusal.
    fileprivate var problem: String {
        (try? JSONDocument(self.body).root)?["error"]?["message"]?.string ?? self.reason
    }
}
