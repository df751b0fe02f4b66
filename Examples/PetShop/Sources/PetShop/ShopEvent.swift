import Foundation
import Wiretape

/// Something that happened in the shop.
public enum ShopEvent: Sendable, Hashable {
    case arrived(pet: String)
    case adopted(pet: String)
    case closed

    /// Nil for a kind of event that this version of the app does not know.
    init?(_ event: ServerSentEvent) throws {
        struct Content: Codable { var pet: String }
        switch event.event {
        case "arrived": self = .arrived(pet: try JSONDecoder().decode(Content.self, from: Data(event.data.utf8)).pet)
        case "adopted": self = .adopted(pet: try JSONDecoder().decode(Content.self, from: Data(event.data.utf8)).pet)
        case "closed": self = .closed
        default: return nil
        }
    }
}
