internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import CassetteTools

/// One exchange on one line of a terminal: `GET     200    1.2 KB   14 ms  /pets?page=1`.
///
/// The first host that is shown stays away from the lines; URLs of other hosts are whole.
struct ExchangeLine {
    private static let methodWidth = 7
    private static let statusWidth = 4
    private static let numberWidth = 9

    var paint: Paint
    /// In columns; nil if lines are not shortened.
    var width: Int?
    private var host: String?

    init(paint: Paint, width: Int?) {
        self.paint = paint
        self.width = width
    }

    /// - Parameter lint: the first defect of the request's body.
    mutating func recorded(_ row: ExchangeRow, lint: String? = nil) -> String {
        let size = row.size.map { Quantity.bytes($0) } ?? "-"
        let time = row.total.map { Quantity.milliseconds($0) } ?? "-"
        var text = self.line(row.method, row.shortStatusWords, size, time, row.url, row.statusColor)
        if let lint {
            text += "\n" + self.paint(VisibleText.line("\(ExchangeTable.mark) broken upload: \(lint)"), .yellow)
        }
        return text
    }

    /// A request that nothing in the cassette answers.
    mutating func missed(_ method: String, _ url: String) -> String { self.line(method, "miss", "", "", url, .red) }

    private mutating func line(_ method: String, _ status: String, _ size: String, _ time: String, _ url: String, _ color: Paint.Color?)
        -> String
    {
        let start =
            TextWidth.padded(VisibleText.line(method), to: Self.methodWidth) + " "
            + self.paint(TextWidth.padded(status, to: Self.statusWidth), color) + " "
            + TextWidth.padded(size, to: Self.numberWidth, .right) + TextWidth.padded(time, to: Self.numberWidth, .right) + "  "
        let used = Self.methodWidth + Self.statusWidth + Self.numberWidth * 2 + 4
        let shown = VisibleText.line(self.place(url))
        let text = self.width.map { TextWidth.shortened(shown, to: max(16, $0 - used)) } ?? shown
        return start + (color == .red ? self.paint(text, .red) : text)
    }

    private mutating func place(_ url: String) -> String {
        guard let colon = url.firstRange(of: "://") else { return url }
        let end = url[colon.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        let host = String(url[..<end])
        self.host = self.host ?? host
        return host == self.host ? (end == url.endIndex ? "/" : String(url[end...])) : url
    }
}

/// The exchanges of a file that grows, each as a row and with the first defect of its upload.
struct ExchangeFollower: Sendable {
    /// Larger uploads are not checked: lines must keep up with the traffic.
    private static let checkedSize = 4 << 20

    enum News {
        case exchange(ExchangeRow, Interaction, lint: String?)
        /// Another file has taken the place of the one that was followed.
        case replaced
    }

    /// How many exchanges of the file were news, or were there before.
    private(set) var shown: Int
    private let follower: CassetteFollower
    private let reader: BodyReader
    private var epoch: Int

    /// - Parameter last: how many exchanges that are there already are news.
    init(path: String, last: Int = .max) throws(CassetteError) {
        self.follower = try CassetteFollower(path: path)
        self.reader = BodyReader(cassettePath: path)
        self.epoch = self.follower.epoch.number
        self.shown = max(0, self.follower.epoch.ranges.count - last)
    }

    /// - Parameter first: the index of the first exchange that is news.
    init(path: String, from first: Int) throws(CassetteError) {
        try self.init(path: path)
        self.shown = first
    }

    /// The exchanges that came since the last call.
    mutating func news() throws -> [News] {
        _ = try self.follower.follow()
        let epoch = self.follower.epoch
        var news: [News] = []
        if epoch.number != self.epoch {
            (self.epoch, self.shown) = (epoch.number, 0)
            news.append(.replaced)
        }
        for index in min(self.shown, epoch.ranges.count)..<epoch.ranges.count {
            let interaction = try InteractionDecoder.decode(epoch.bytes(epoch.ranges[index]), at: .textAlone)
            var row = ExchangeRow(number: index + 1, interaction)
            let lint = self.lint(interaction)
            row.defects = lint == nil ? nil : 1
            news.append(.exchange(row, interaction, lint: lint))
        }
        self.shown = epoch.ranges.count
        return news
    }

    private func lint(_ interaction: Interaction) -> String? {
        guard let body = interaction.request.body, body.size <= Self.checkedSize,
            let contents = try? BodyContents(body, headers: interaction.request.headers, reader: self.reader, readsBroken: true),
            let lint = try? BodyLint(contents, headers: interaction.request.headers, .init(side: .request, body: body))
        else { return nil }
        // A line of a running list has room for what is wrong, and not for what to do.
        guard let sentence = lint.findings.first?.sentence else { return nil }
        return sentence.firstRange(of: "; ").map { String(sentence[..<$0.lowerBound]) } ?? sentence
    }
}
