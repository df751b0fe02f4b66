internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
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
    /// Held while files are opened or a recording starts or ends, one at a time.
    private let turn = Guarded(())

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
            return self.main.answering { .whole(try self.change(request, Array(parts.dropFirst(2)))) }
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

    private func change(_ request: LocalRequest, _ parts: [String]) throws -> LocalAnswer {
        guard parts.count <= 1 else { throw InspectorService.unknown }
        guard let action = parts.first else {
            try InspectorService.allow(request, "GET")
            return InspectorService.json(self.list)
        }
        try InspectorService.allow(request, "POST")
        let order = try InspectorOrder(request.body)
        switch action {
        case "upload": return InspectorService.json(try self.upload(order))
        case "open": return InspectorService.json(try self.open(order))
        case "record": return InspectorService.json(try self.record())
        case "stop":
            try self.stop(self.chosen(order))
            return InspectorService.json(self.list)
        case "close":
            try self.close(self.chosen(order))
            return InspectorService.json(self.list)
        default: throw InspectorService.unknown
        }
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
                try DiffService.bytes(left.interaction, right.interaction, old: left.path, new: right.path)))
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
    private func upload(_ order: InspectorOrder) throws -> [UInt8] {
        guard let name = try order.text("name"), let text = try order.text("base64"), let offset = order.values["offset"]?.int,
            let bytes = Base64.decode(Array(text.utf8))
        else { throw InspectorService.bad("upload", "\"name\", \"offset\" and \"base64\" describe a piece of a file") }
        let drop = try self.turn.withLock { _ in
            try self.files().take(bytes, of: name, at: offset, drop: order.values["drop"]?.int)
        }
        return Array("{ \"drop\": \(drop) }\n".utf8)
    }

    /// Opens what was dropped: each cassette in a tab of its own, and recordings of other tools after an import.
    private func open(_ order: InspectorOrder) throws -> [UInt8] {
        guard let drop = order.values["drop"]?.int, let name = try order.text("name") else {
            throw InspectorService.bad("open", "\"drop\" and \"name\" say what to open")
        }
        return try self.turn.withLock { _ in
            let opening = try self.files().opening(drop)
            defer { opening.end() }
            let found = try opening.cassettes(named: name, importing: self.tools.importRecordings)
            guard !found.isEmpty else {
                throw LocalAnswer(
                    status: 422, reason: "Unprocessable Content", code: "open", message: opening.problem(name))
            }
            var opened: [Int] = []
            for cassette in found {
                do {
                    opened.append(try self.add(cassette.name, cassette.path, in: cassette.folder, cassette.notes))
                } catch let error as CassetteError {
                    opening.note(error.message)
                }
            }
            guard !opened.isEmpty else {
                throw LocalAnswer(status: 422, reason: "Unprocessable Content", code: "open", message: opening.problem(name))
            }
            opening.keep()
            return self.answer(opened: opened, notes: opening.notes)
        }
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
        return try self.turn.withLock { _ in
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
    }

    /// Ends the recording of a tab, which shows the finished cassette from then on.
    private func stop(_ tab: Tab) throws {
        try self.turn.withLock { _ in
            // Another page may have been faster.
            guard let recording = self.tab(tab.id)?.recording else { return }
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
