-- Prints the body of a URL by http-conduit, with no settings of its own.
module Main (main) where

import qualified Data.ByteString.Lazy as Bytes
import Network.HTTP.Simple
import System.Environment (getArgs)

main :: IO ()
main = do
  [url] <- getArgs
  request <- setRequestCheckStatus <$> parseRequest url
  answer <- httpLBS request
  Bytes.putStr (getResponseBody answer)
