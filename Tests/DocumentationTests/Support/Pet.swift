// snippet: pet
nonisolated struct Pet: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}
// snippet end
