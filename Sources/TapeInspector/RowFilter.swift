internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools

/// Tells which rows match a filter expression: from their columns if these suffice, otherwise from the decoded exchange.
///
/// Has the same result as `ExchangeFilter`, which the command line uses.
struct RowFilter {
    private let expression: FilterExpression
    private let exchanges: ExchangeFilter
    private let cassette: InspectedCassette

    init(_ expression: FilterExpression, cassette: InspectedCassette) {
        self.expression = expression
        self.exchanges = ExchangeFilter(expression, reader: BodyReader(cassettePath: cassette.path))
        self.cassette = cassette
    }

    /// Whether rows can be matched without their exchanges, unless they are unusual.
    var looksAtRowsAlone: Bool { Self.looksAtRowsAlone(self.expression) }

    private static func looksAtRowsAlone(_ expression: FilterExpression) -> Bool {
        switch expression {
        case .flag, .status, .grpc, .version: true
        case .pattern(let term, _):
            switch term {
            case .method, .url, .domain, .destination, .type, .requestType, .responseType: true
            default: false
            }
        case .not(let inner): self.looksAtRowsAlone(inner)
        case .and(let left, let right), .or(let left, let right): self.looksAtRowsAlone(left) && self.looksAtRowsAlone(right)
        }
    }

    /// An exchange that cannot be decoded does not match a filter that requires decoding.
    func matches(_ ordinal: Int, in moment: InspectedCassette.Moment) -> Bool {
        if let known = self.holds(self.expression, ordinal, moment.rows[ordinal], moment.rows) { return known }
        guard let interaction = try? moment.interaction(ordinal, of: self.cassette) else { return false }
        return (try? self.exchanges.matches(interaction)) ?? false
    }

    /// nil if the row's columns do not suffice.
    private func holds(_ expression: FilterExpression, _ ordinal: Int, _ row: StoredRow, _ table: RowTable) -> Bool? {
        switch expression {
        case .flag(let term): return self.holds(term, row, table)
        case .status(let status): return row.status > 0 && Int(row.status) == status
        case .grpc: return table.text(row.responseType)?.lowercased().contains("grpc") == true || row.isUnusual ? nil : false
        case .version(let version):
            return StoredRow.version(row.requestVersion) == version
                || row.status > 0 && StoredRow.version(row.responseVersion) == version
        case .pattern(let term, let pattern): return self.holds(term, pattern, ordinal, row, table)
        case .not(let inner): return self.holds(inner, ordinal, row, table).map { !$0 }
        case .and(let left, let right):
            let first = self.holds(left, ordinal, row, table)
            if first == false { return false }
            let second = self.holds(right, ordinal, row, table)
            if second == false { return false }
            return first == true && second == true ? true : nil
        case .or(let left, let right):
            let first = self.holds(left, ordinal, row, table)
            if first == true { return true }
            let second = self.holds(right, ordinal, row, table)
            if second == true { return true }
            return first == false && second == false ? false : nil
        }
    }

    private func holds(_ term: FilterTerm, _ row: StoredRow, _ table: RowTable) -> Bool? {
        switch term {
        case .all, .http: true
        case .answered: row.status > 0
        case .unanswered: row.status <= 0
        case .failed: !row.isComplete
        case .webSocket: row.isUnusual ? nil : row.messages >= 0
        case .asset: nil
        case .body, .requestBody, .responseBody, .status, .grpc, .version, .domain, .destination, .header, .requestHeader,
            .responseHeader, .method, .type, .requestType, .responseType, .url:
            false
        }
    }

    private func holds(_ term: FilterTerm, _ pattern: FilterPattern, _ ordinal: Int, _ row: StoredRow, _ table: RowTable) -> Bool? {
        switch term {
        case .method: return pattern.matches(table.text(row.method) ?? "")
        case .url: return pattern.matches(Array(table.url(ordinal)))
        case .domain:
            let url = String(decoding: table.url(ordinal), as: UTF8.self)
            if pattern.matches(FilterExpression.host(of: url)) { return true }
            // The Host field contains the URL's authority, including its port.
            return row.isUnusual ? nil : row.hasHost && pattern.matches(Self.authority(of: url))
        case .destination: return table.text(row.remote).map { pattern.matches($0) } == true
        case .requestType: return row.isUnusual ? nil : self.typeMatches(row.requestType, pattern, table)
        case .responseType: return row.isUnusual ? nil : self.typeMatches(row.responseType, pattern, table)
        case .type:
            return row.isUnusual
                ? nil : self.typeMatches(row.requestType, pattern, table) || self.typeMatches(row.responseType, pattern, table)
        case .all, .answered, .asset, .body, .failed, .grpc, .header, .http, .requestBody, .requestHeader, .responseBody, .responseHeader,
            .status, .unanswered, .version, .webSocket:
            return nil
        }
    }

    private static func authority(of url: String) -> String {
        guard let colon = url.firstRange(of: "://") else { return url }
        return String(url[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }

    private func typeMatches(_ type: UInt32, _ pattern: FilterPattern, _ table: RowTable) -> Bool {
        table.text(type).map { pattern.matches($0) } == true
    }
}

/// The column by which a list is sorted.
enum RowSort: String, CaseIterable {
    case start, method, url, status, type, size, time

    /// - Parameter ordinals: in order of request start, which is kept for equal rows.
    func sorted(_ ordinals: [UInt32], descends: Bool, _ table: RowTable) -> [UInt32] {
        switch self {
        case .start: return descends ? ordinals.reversed() : ordinals
        case .method: return self.byText(ordinals, descends) { table.text(table[$0].method) ?? "" }
        case .type: return self.byText(ordinals, descends) { table.text(table[$0].responseType) ?? "" }
        case .url: return self.byText(ordinals, descends) { String(decoding: table.url($0), as: UTF8.self) }
        case .status:
            return self.byNumber(ordinals, descends) { Double(table[$0].isFailed ? 1000 + Int16(table[$0].outcome) : table[$0].status) }
        case .size: return self.byNumber(ordinals, descends) { Double(max(-1, table[$0].responseSize)) }
        case .time: return self.byNumber(ordinals, descends) { table[$0].phases[7].isFinite ? Double(table[$0].phases[7]) : -1 }
        }
    }

    private func byText(_ ordinals: [UInt32], _ descends: Bool, _ key: (Int) -> String) -> [UInt32] {
        let keyed = ordinals.enumerated().map { (key: key(Int($1)), place: $0, ordinal: $1) }
        return keyed.sorted { $0.key == $1.key ? $0.place < $1.place : ($0.key < $1.key) != descends }.map(\.ordinal)
    }

    private func byNumber(_ ordinals: [UInt32], _ descends: Bool, _ key: (Int) -> Double) -> [UInt32] {
        let keyed = ordinals.enumerated().map { (key: key(Int($1)), place: $0, ordinal: $1) }
        return keyed.sorted { $0.key == $1.key ? $0.place < $1.place : ($0.key < $1.key) != descends }.map(\.ordinal)
    }
}
