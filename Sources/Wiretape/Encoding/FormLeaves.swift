internal import Foundation

/// How values without others within them are written; nil lets a value encode itself, or be left out where there is none.
struct FormLeaves: Sendable {
    let bool: @Sendable (Bool) -> String
    let data: @Sendable (Data) throws -> FormLeaf?
    let date: @Sendable (Date) throws -> String?
    let null: @Sendable () -> String?
}
